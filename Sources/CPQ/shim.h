#pragma once
#include <libpq-fe.h>

// The fields of an error; libpq has them as macros of characters.
static const int fieldpack_pq_sqlstate = PG_DIAG_SQLSTATE;
static const int fieldpack_pq_primary = PG_DIAG_MESSAGE_PRIMARY;
static const int fieldpack_pq_detail = PG_DIAG_MESSAGE_DETAIL;
static const int fieldpack_pq_column = PG_DIAG_COLUMN_NAME;
