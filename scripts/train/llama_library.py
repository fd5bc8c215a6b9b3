"""llama.cpp's C API through ctypes: load a model, tokenise, logits of a whole sequence under full attention.

The library comes from the npm package @node-llama-cpp/linux-x64, which carries it ready to use.
"""

import ctypes
import glob
import os
import subprocess

import numpy as np

PACKAGE = "@node-llama-cpp/linux-x64@3.21.1"
BLOB = ctypes.c_char * 1024  # larger than any of the C API's by-value parameter structs, which all come last

# The library keeps it for good, whatever becomes of the models. Level 4: errors.
QUIET = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(
    lambda level, text, _: print(text.decode(), end="") if level == 4 else None
)


def install(folder, *more):
    """Fetches the package, and others, below `folder` with npm; returns the folder of the libraries."""
    subprocess.run(["npm", "install", "--silent", "--prefix", folder, PACKAGE, *more], check=True)
    return glob.glob(os.path.join(folder, "node_modules/@node-llama-cpp/linux-x64/bins/*"))[0]


class Params(ctypes.Structure):
    _fields_ = [("bytes", BLOB)]


class Batch(ctypes.Structure):
    _fields_ = [
        ("n_tokens", ctypes.c_int32),
        ("token", ctypes.POINTER(ctypes.c_int32)),
        ("embd", ctypes.POINTER(ctypes.c_float)),
        ("pos", ctypes.POINTER(ctypes.c_int32)),
        ("n_seq_id", ctypes.POINTER(ctypes.c_int32)),
        ("seq_id", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
        ("logits", ctypes.POINTER(ctypes.c_int8)),
    ]


class Llama:
    """Just enough of llama.cpp's C API: load, tokenise, full-attention logits."""

    def __init__(self, folder, path):
        for base in ("libggml-base.so", "libggml.*.so"):
            self.ggml = ctypes.CDLL(glob.glob(os.path.join(folder, base))[0], mode=ctypes.RTLD_GLOBAL)
        self.ggml.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
        self.ggml.ggml_backend_load_all_from_path(folder.encode())
        self.api = api = ctypes.CDLL(glob.glob(os.path.join(folder, "libllama.v*.so"))[0])
        api.llama_log_set(QUIET, None)
        for name in ("model", "context"):
            getattr(api, f"llama_{name}_default_params").restype = Params
        for name in ("load_from_file", "get_vocab"):
            getattr(api, f"llama_model_{name}").restype = ctypes.c_void_p
        api.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
        api.llama_model_load_from_file.argtypes = [ctypes.c_char_p, Params]
        api.llama_init_from_model.restype = ctypes.c_void_p
        api.llama_init_from_model.argtypes = [ctypes.c_void_p, Params]
        api.llama_get_logits.restype = ctypes.POINTER(ctypes.c_float)
        api.llama_get_logits.argtypes = [ctypes.c_void_p]
        api.llama_decode.argtypes = [ctypes.c_void_p, Batch]
        api.llama_set_n_threads.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32]
        api.llama_set_causal_attn.argtypes = [ctypes.c_void_p, ctypes.c_bool]
        pointer, integer, flag = ctypes.c_void_p, ctypes.c_int32, ctypes.c_bool
        api.llama_tokenize.argtypes = [pointer, ctypes.c_char_p, integer, pointer, integer, flag, flag]
        self.model = api.llama_model_load_from_file(path.encode(), api.llama_model_default_params())
        if not self.model:
            raise SystemExit("llama.cpp refuses the file")
        api.llama_vocab_n_tokens.argtypes = [ctypes.c_void_p]
        self.vocabulary = api.llama_vocab_n_tokens(api.llama_model_get_vocab(self.model))
        api.llama_free.argtypes = [ctypes.c_void_p]

    def tokenise(self, text):
        out = (ctypes.c_int32 * 1024)()
        count = self.api.llama_tokenize(self.api.llama_model_get_vocab(self.model), text.encode(), len(text), out, 1024, False, True)
        return list(out[:count])

    def logits(self, tokens):
        """[L, V] under full bidirectional attention; at most 512 tokens, a fresh context each time."""
        params = self.api.llama_context_default_params()
        ctypes.memmove(ctypes.byref(params), (ctypes.c_uint32 * 3)(512, 512, 512), 12)  # n_ctx, n_batch, n_ubatch lead the struct
        context = self.api.llama_init_from_model(self.model, params)
        self.api.llama_set_causal_attn(context, False)
        self.api.llama_set_n_threads(context, 1, 1)  # its threads spin: more are slower unless the machine is idle
        n = len(tokens)
        zero = (ctypes.c_int32 * 1)(0)
        batch = Batch(
            n,
            (ctypes.c_int32 * n)(*tokens),
            None,
            (ctypes.c_int32 * n)(*range(n)),
            (ctypes.c_int32 * n)(*[1] * n),
            (ctypes.POINTER(ctypes.c_int32) * n)(*[ctypes.cast(zero, ctypes.POINTER(ctypes.c_int32))] * n),
            (ctypes.c_int8 * n)(*[1] * n),
        )
        if self.api.llama_decode(context, batch):
            raise SystemExit("llama_decode failed")
        result = np.ctypeslib.as_array(self.api.llama_get_logits(context), (n, self.vocabulary)).copy()
        self.api.llama_free(context)
        return result
