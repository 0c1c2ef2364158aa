#ifndef FIELDPACK_SHORT_READS_H
#define FIELDPACK_SHORT_READS_H

#include <stddef.h>

/// Lets pread(2) give no more than so many bytes a call, in the whole process.
void short_reads_limit(size_t longest);

#endif
