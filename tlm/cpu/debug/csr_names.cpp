#include "tlm/cpu/debug/csr_names.h"

namespace dvp::cpu::debug {

namespace {

// `count` registers from `first` on: the name alone when there is one, else followed by a number counted from `suffix`.
struct csr_range {
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t suffix;
  const char* name;
};

constexpr csr_range ranges[] = {
    {0x001, 1, 0, "fflags"},      {0x002, 1, 0, "frm"},           {0x003, 1, 0, "fcsr"},
    {0xc00, 1, 0, "cycle"},       {0xc01, 1, 0, "time"},          {0xc02, 1, 0, "instret"},
    {0xc03, 29, 3, "hpmcounter"}, {0x100, 1, 0, "sstatus"},       {0x104, 1, 0, "sie"},
    {0x105, 1, 0, "stvec"},       {0x106, 1, 0, "scounteren"},    {0x10a, 1, 0, "senvcfg"},
    {0x140, 1, 0, "sscratch"},    {0x141, 1, 0, "sepc"},          {0x142, 1, 0, "scause"},
    {0x143, 1, 0, "stval"},       {0x144, 1, 0, "sip"},           {0x180, 1, 0, "satp"},
    {0xf11, 1, 0, "mvendorid"},   {0xf12, 1, 0, "marchid"},       {0xf13, 1, 0, "mimpid"},
    {0xf14, 1, 0, "mhartid"},     {0xf15, 1, 0, "mconfigptr"},    {0x300, 1, 0, "mstatus"},
    {0x301, 1, 0, "misa"},        {0x302, 1, 0, "medeleg"},       {0x303, 1, 0, "mideleg"},
    {0x304, 1, 0, "mie"},         {0x305, 1, 0, "mtvec"},         {0x306, 1, 0, "mcounteren"},
    {0x30a, 1, 0, "menvcfg"},     {0x320, 1, 0, "mcountinhibit"}, {0x323, 29, 3, "mhpmevent"},
    {0x340, 1, 0, "mscratch"},    {0x341, 1, 0, "mepc"},          {0x342, 1, 0, "mcause"},
    {0x343, 1, 0, "mtval"},       {0x344, 1, 0, "mip"},           {0x34a, 1, 0, "mtinst"},
    {0x34b, 1, 0, "mtval2"},      {0x3a0, 16, 0, "pmpcfg"},       {0x3b0, 64, 0, "pmpaddr"},
    {0x7a0, 1, 0, "tselect"},     {0x7a1, 3, 1, "tdata"},         {0x7a8, 1, 0, "mcontext"},
    {0x7b0, 1, 0, "dcsr"},        {0x7b1, 1, 0, "dpc"},           {0x7b2, 2, 0, "dscratch"},
    {0xb00, 1, 0, "mcycle"},      {0xb02, 1, 0, "minstret"},      {0xb03, 29, 3, "mhpmcounter"},
};

}  // namespace

std::string csr_name(std::uint32_t number) {
  for (const csr_range& range : ranges) {
    if (number < range.first || number - range.first >= range.count) continue;
    if (range.count == 1) return range.name;
    return range.name + std::to_string(range.suffix + number - range.first);
  }
  return "csr" + std::to_string(number);
}

}  // namespace dvp::cpu::debug
