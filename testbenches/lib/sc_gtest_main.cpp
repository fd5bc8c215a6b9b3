// GoogleTest inside SystemC's main.
//
// The kernel can be elaborated once per process, so a process runs one simulating test; dvp_sc_test() registers every
// TEST of an executable as a CTest case of its own. By hand: name one with --gtest_filter.
#include <gtest/gtest.h>

#include <cstdlib>
#include <systemc>

namespace {

// The kernel prints its banner before sc_main, so it is told to be quiet before main.
[[maybe_unused]] const int quiet = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);

}  // namespace

int sc_main(int argc, char* argv[]) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
