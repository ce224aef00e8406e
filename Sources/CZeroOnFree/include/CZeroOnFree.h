#ifndef CZEROONFREE_H
#define CZEROONFREE_H

/// Linking this target into a program makes `free` and `realloc` of the whole process overwrite memory before it is given back, in all
/// libraries. Passwords, codes, tokens and keys pass through Swift strings, arrays and closures, which copy them where they like and wipe
/// nothing: so what is not used any more is wiped, whatever it is.
///
/// glibc lets a program bring its own functions of this family; these hand on to glibc's.

#endif
