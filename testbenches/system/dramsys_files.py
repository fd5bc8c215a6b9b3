"""A DRAMSys simulation of an LPDDR5-6400 x16 channel, as its users write them."""
import json

TIMING = {"tCK": 1.25e-9, "REFI": 3124, "REFIpb": 390, "RFCab": 168, "RFCpb": 96, "RAS": 34, "RPab": 17, "RPpb": 15, "RCpb": 49,
          "RCab": 51, "PPD": 2, "RCD_L": 15, "RCD_S": 15, "FAW": 16, "RRD": 4, "RL": 17, "RBTP": 6, "WL": 9, "WR": 28,
          "RTRS": 2, "BL_n_min_16": 2, "BL_n_max_16": 4, "BL_n_L_16": 4, "BL_n_S_16": 2, "BL_n_min_32": 6, "BL_n_max_32": 8,
          "BL_n_L_32": 8, "BL_n_S_32": 2, "WTR_L": 10, "WTR_S": 5, "RTW_L_32": 18, "RTW_L_16": 14, "RTW_S_32": 16,
          "RTW_S_16": 12, "WCK2DQO": 1, "WCK2CK": 4, "pbR2act": 6, "pbR2pbR": 72}
MEMSPEC = {"memoryId": "test", "memoryType": "LPDDR5",
           "memarchitecturespec": {"nbrOfDevices": 1, "nbrOfChannels": 1, "nbrOfRanks": 1, "nbrOfBanks": 16,
                                   "nbrOfBankGroups": 4, "nbrOfRows": 32768, "nbrOfColumns": 1024, "burstLength": 16,
                                   "dataRate": 2, "width": 16, "per2BankOffset": 8, "WCKalwaysOn": True},
           "memtimingspec": TIMING}
# Byte, column, bank group, bank, row.
MAPPING = {"BYTE_BIT": [0], "COLUMN_BIT": list(range(1, 11)), "BANKGROUP_BIT": [11, 12], "BANK_BIT": [13, 14],
           "ROW_BIT": list(range(15, 30))}


# DRAMPower's toggle rates; it wants them whatever the data is.
DRAMPOWER = {"useToggleRate": False,
             "simconfig": {"toggleRateDefinition": {"togglingRateRead": 0.5, "togglingRateWrite": 0.5, "dutyCycleRead": 0.5,
                                                    "dutyCycleWrite": 0.5, "idlePatternRead": "L", "idlePatternWrite": "L"}}}


def drampower_memspec():
    """The same device with currents and impedances, which DRAMPower requires; their values do not matter here."""
    currents = ("idd0", "idd2n", "idd3n", "idd4r", "idd4w", "idd5", "idd5pb", "idd6", "idd6ds", "idd2p", "idd3p")
    power = {"vddq": 0.5}
    for domain in ("1", "2h", "2l"):
        power.update({f"vdd{domain}": 1.0, **{name + domain: 0.01 for name in currents}})
    pins = ("ck", "ca", "rdq", "wdq", "rdqs", "wck", "rdbi", "wdbi")
    impedance = {f"{pin}_{name}": value for pin in pins
                 for name, value in (("termination", True), ("R_eq", 50.0), ("dyn_E", 1e-12))}
    return {"memspec": {**MEMSPEC, "mempowerspec": power, "memimpedancespec": impedance}}


def simulation(folder, tracesetup, simconfig=None):
    """Writes simulation.json with its parts beside it, one of them in a file of its own; gives the path."""
    (folder / "memspec").mkdir(exist_ok=True)
    (folder / "memspec" / "test.json").write_text(json.dumps({"memspec": MEMSPEC}))
    document = {"simulation": {"simulationid": "test", "memspec": "memspec/test.json", "addressmapping": MAPPING,
                               "mcconfig": {"PagePolicy": "Open", "Scheduler": "FrFcfs", "SchedulerBuffer": "Shared",
                                            "RequestBufferSize": 32, "RefreshPolicy": "NoRefresh"},
                               "simconfig": simconfig or {}, "tracesetup": tracesetup}}
    path = folder / "simulation.json"
    path.write_text(json.dumps(document))
    return path
