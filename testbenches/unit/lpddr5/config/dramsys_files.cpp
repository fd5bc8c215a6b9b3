#include "testbenches/unit/lpddr5/config/dramsys_files.h"

#include <cstdio>
#include <cstdlib>

namespace dvp::testbenches {

std::string memspec_text() {
  return R"({"memspec": {
  "memoryId": "test_8Gb_LPDDR5-6400", "memoryType": "LPDDR5",
  "memarchitecturespec": {
    "nbrOfDevices": 1, "nbrOfChannels": 1, "nbrOfRanks": 1, "nbrOfBanks": 16, "nbrOfBankGroups": 4, "nbrOfRows": 32768,
    "nbrOfColumns": 1024, "burstLength": 16, "maxBurstLength": 16, "dataRate": 2, "width": 16, "per2BankOffset": 8,
    "WCKalwaysOn": true},
  "memtimingspec": {
    "tCK": 1.25e-9, "REFI": 3125, "REFIpb": 391, "RFCab": 168, "RFCpb": 96, "RAS": 34, "RPab": 17, "RPpb": 15,
    "RCpb": 49, "RCab": 51, "PPD": 2, "RCD_L": 15, "RCD_S": 15, "FAW": 16, "RRD": 4, "RL": 17, "RBTP": 6, "WL": 9,
    "WR": 28, "RTRS": 2, "BL_n_min_16": 2, "BL_n_max_16": 4, "BL_n_L_16": 4, "BL_n_S_16": 2, "BL_n_min_32": 6,
    "BL_n_max_32": 8, "BL_n_L_32": 8, "BL_n_S_32": 2, "WTR_L": 10, "WTR_S": 5, "RTW_L_32": 16, "RTW_L_16": 12,
    "RTW_S_32": 16, "RTW_S_16": 12, "WCK2DQO": 1, "WCK2CK": 4, "pbR2act": 6, "pbR2pbR": 72},
  "mempowerspec": {
    "vdd1": 1.8, "idd01": 5e-3, "idd2n1": 1e-3, "idd3n1": 2e-3, "idd4r1": 6e-3, "idd4w1": 5e-3, "idd51": 22e-3,
    "idd5pb1": 3e-3, "idd61": 0.5e-3, "idd6ds1": 0, "idd2p1": 0.8e-3, "idd3p1": 1.2e-3,
    "vdd2h": 1.05, "idd02h": 40e-3, "idd2n2h": 20e-3, "idd3n2h": 25e-3, "idd4r2h": 225e-3, "idd4w2h": 205e-3,
    "idd52h": 125e-3, "idd5pb2h": 40e-3, "idd62h": 2e-3, "idd6ds2h": 0, "idd2p2h": 4e-3, "idd3p2h": 8e-3,
    "vdd2l": 0.9, "idd02l": 0, "idd2n2l": 0, "idd3n2l": 0, "idd4r2l": 0, "idd4w2l": 0, "idd52l": 0, "idd5pb2l": 0,
    "idd62l": 0, "idd6ds2l": 0, "idd2p2l": 0, "idd3p2l": 0,
    "vddq": 0.5, "iBeta_vdd1": 5e-3, "iBeta_vdd2h": 40e-3, "iBeta_vdd2l": 0},
  "bankwisespec": {"factRho": 1},
  "memimpedancespec": {
    "ck_termination": true, "ck_R_eq": 1e6, "ck_dyn_E": 1e-12, "ca_termination": true, "ca_R_eq": 1e6, "ca_dyn_E": 1e-12,
    "rdq_termination": true, "rdq_R_eq": 50, "rdq_dyn_E": 2e-12, "wdq_termination": true, "wdq_R_eq": 100,
    "wdq_dyn_E": 4e-12, "wck_termination": false, "wck_R_eq": 50, "wck_dyn_E": 1e-12, "rdqs_termination": true,
    "rdqs_R_eq": 50, "rdqs_dyn_E": 1e-12, "wdbi_termination": false, "wdbi_R_eq": 1e6, "wdbi_dyn_E": 0,
    "rdbi_termination": false, "rdbi_R_eq": 1e6, "rdbi_dyn_E": 0}
}})";
}

std::string addressmapping_text() {
  return R"({"addressmapping": {
  "BYTE_BIT": [0], "COLUMN_BIT": [1, 2, 3, 4, 7, 8, 9, 10, 11, 12], "BANKGROUP_BIT": [5, 6], "BANK_BIT": [13, 14],
  "ROW_BIT": [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]
}})";
}

std::string mcconfig_text() {
  return R"({"mcconfig": {
  "PagePolicy": "Open", "Scheduler": "FrFcfs", "SchedulerBuffer": "ReadWrite", "RequestBufferSizeRead": 24,
  "RequestBufferSizeWrite": 12, "CmdMux": "Oldest", "RespQueue": "Reorder", "RefreshPolicy": "Per2Bank",
  "RefreshMaxPostponed": 2, "RefreshMaxPulledin": 1, "PowerDownPolicy": "NoPowerDown", "Arbiter": "Simple",
  "RefreshManagement": false, "ArbitrationDelayFw": 2, "ThinkDelayFw": 3, "PhyDelayFw": 4, "ArbitrationDelayBw": 5,
  "ThinkDelayBw": 6, "PhyDelayBw": 7
}})";
}

std::string simconfig_text() {
  return R"({"simconfig": {
  "AddressOffset": 4096, "DatabaseRecording": true, "Debug": false, "EnableWindowing": false, "WindowSize": 1000,
  "PowerAnalysis": false, "SimulationName": "test", "SimulationProgressBar": false, "StoreMode": "NoStorage",
  "SimulationTime": 1e-3
}})";
}

std::string simulation_text() {
  return R"({"simulation": {
  "simulationid": "test", "memspec": "memspec/m.json", "addressmapping": "addressmapping/a.json",
  "mcconfig": "mcconfig/c.json", "simconfig": "simconfig/s.json",
  "tracesetup": [
    {"type": "player", "clkMhz": 200, "dataLength": 32, "name": "traces/t.stl"},
    {"type": "generator", "clkMhz": 800, "name": "gen0", "dataLength": 64, "numRequests": 1000, "rwRatio": 0.75,
     "addressDistribution": "random", "seed": 7, "maxPendingReadRequests": 8, "minAddress": 4096, "maxAddress": 8191}]
}})";
}

std::string every_key_text() {
  return R"({
    // Comments are for people.
    "$schema": "memory.schema.json", "name": "n", "description": "d",
    "device": "LPDDR5-6400", "density_gbit": 16, "bank_mode": "bg", "burst_length": 32, "width_bits": 32, "ranks": 2,
    "wck": "ON_DEMAND", "channels": 4, "timing": {"RCD": 16, "WR": 30},
    "mapping": {"order": "row-bank-column-channel", "interleave_bytes": 4096, "xor_banks": true},
    "controller": {"scheduler": "fr_fcfs_grouped", "page": "Closed_Adaptive", "refresh": "per_bank",
      "refresh_postpone": 3, "refresh_pull_in": 4, "queue": "read_write", "read_queue": 40, "write_queue": 20,
      "write_high": 18, "write_low": 2, "posted_writes": false, "coalesce_writes": false, "starvation_limit": 99,
      "power_down_after": 50, "self_refresh_after": 5000, "frontend_cycles": 6, "backend_cycles": 7,
      "stream_bytes": 65536},
    "tagged": {"layout": "bitplane", "core_feed": 4, "convert_cycles": 2, "scales": "in_burst", "scale_group": 64,
      "scale_bits": 8},
    "energy": {"activate_nj": 1.5, "refresh_all_nj": 20, "refresh_bank_nj": 3, "core_read_pj_per_bit": 2.0,
      "core_write_pj_per_bit": 2.1, "down_read_pj_per_bit": 1.0, "down_write_pj_per_bit": 1.1,
      "convert_q4_pj_per_element": 0.5, "convert_q2_pj_per_element": 0.25, "active_standby_mw": 10,
      "precharge_standby_mw": 9, "active_power_down_mw": 3, "precharge_power_down_mw": 2, "self_refresh_mw": 0.5}})";
}

std::vector<std::string> memory_config_seeds() {
  const auto inner = [](const std::string& text) {
    return text.substr(text.find(": ") + 2, text.size() - text.find(": ") - 3);
  };
  std::string simulation = simulation_text();
  simulation = with(simulation, "\"memspec/m.json\"", inner(memspec_text()));
  simulation = with(simulation, "\"addressmapping/a.json\"", inner(addressmapping_text()));
  simulation = with(simulation, "\"mcconfig/c.json\"", inner(mcconfig_text()));
  simulation = with(simulation, "\"simconfig/s.json\"", inner(simconfig_text()));
  return {simulation, memspec_text(),
          R"({"device": "lpddr5-6400", "density_gbit": 16, "bank_mode": "BG", "burst_length": 32, "width_bits": 64,
              "ranks": 2, "wck": "on_demand", "channels": 4, "timing": {"RCD": 16},
              "mapping": {"order": "row-bank-column-channel", "interleave_bytes": 4096, "xor_banks": true},
              "controller": {"scheduler": "fr_fcfs_grouped", "page": "open_adaptive", "refresh": "per_bank",
                "queue": "read_write", "read_queue": 40, "write_queue": 20, "write_high": 18, "write_low": 2},
              "tagged": {"layout": "nibble", "core_feed": 2}, "energy": {"activate_nj": 1.5}})",
          R"({"device": "lpddr5x-8533", "mapping": {"bits": {"BURST_BIT": [0, 1, 2, 3, 4], "BANKGROUP_BIT": [5, 6],
              "COLUMN_BIT": [7, 8, 9, 10, 11, 12], "BANK_BIT": [[13, 15], 14], "XOR": [{"FIRST": 14, "SECOND": 16}],
              "ROW_BIT": [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]}}})"};
}

std::string with(const std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) {
    std::fprintf(stderr, "the text to spoil does not hold: %s\n", from.c_str());
    std::abort();
  }
  return text.substr(0, at) + to + text.substr(at + from.size());
}

}  // namespace dvp::testbenches
