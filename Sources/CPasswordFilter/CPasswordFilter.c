#include "CPasswordFilter.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char filter[] = {
#embed "filter.bin"
};

const unsigned char *const mintmark_password_filter = filter;
const size_t mintmark_password_filter_size = sizeof filter;
