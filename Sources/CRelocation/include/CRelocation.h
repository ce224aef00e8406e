#ifndef CRELOCATION_H
#define CRELOCATION_H

/// The entry point of the program in release builds, in place of `_start`, which it calls. It must not be called otherwise.
void mintmark_start(void);

#endif
