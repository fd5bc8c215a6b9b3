// Stands in for glibc's header of this name, which the C++ library headers of the Linux cross compiler ask for.
#pragma once

#define __GLIBC_PREREQ(major, minor) 0
