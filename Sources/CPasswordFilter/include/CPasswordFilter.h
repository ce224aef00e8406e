#ifndef MINTMARK_PASSWORD_FILTER_H
#define MINTMARK_PASSWORD_FILTER_H

#include <stddef.h>

/// The filter of common passwords, which `generate.py` in this folder has made.
extern const unsigned char *const mintmark_password_filter;
extern const size_t mintmark_password_filter_size;

#endif
