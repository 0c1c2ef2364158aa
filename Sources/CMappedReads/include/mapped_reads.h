#pragma once
#include <sqlite3.h>

// Makes a connection copy pages from a memory mapping of its file, which saves a call of the system for each
// page. SQLite still has its own copy of each page, and checks the page's cells once.
//
// When the file no longer has the bytes that are mapped, because somebody has cut it short or the disk
// fails, the system sends SIGBUS. The page is then read from the file, as all pages are from then on. A
// SIGBUS for any other reason goes to the handler that was there before.
//
// Nothing is done where the file cannot be mapped, where a mapping may not show what others write, as on
// disks of other machines, and on other systems than Linux. The connection must not use mapped pages
// itself (PRAGMA mmap_size).
void fieldpack_map_reads(sqlite3 *db);
