#pragma once
// Only the functions that take a context: the others share one behind the scenes.
#define GEOS_USE_ONLY_R_API
#include <geos_c.h>
