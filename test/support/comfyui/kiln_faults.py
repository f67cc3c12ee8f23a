"""A node that fails in known ways, for the tests against a real ComfyUI.

Copy it to custom_nodes/kiln_faults/__init__.py, and start ComfyUI with
--disable-all-custom-nodes --whitelist-custom-nodes kiln_faults
"""

import os
import signal
import sys
import time

import comfy.model_management
import comfy.utils
import torch

MODES = ["none", "raise", "oom", "oom_cpu", "sleep", "steps", "exit_thread", "kill", "segv"]

CUDA_MESSAGE = (
    "CUDA out of memory. Tried to allocate 20.00 GiB. "
    "GPU 0 has a total capacity of 23.64 GiB of which 1.00 GiB is free."
)


class KilnFault:
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "go"
    CATEGORY = "kiln"

    @classmethod
    def INPUT_TYPES(cls):
        seconds = {"default": 1.0, "min": 0, "max": 100000}
        return {"required": {"image": ("IMAGE",), "mode": (MODES,), "seconds": ("FLOAT", seconds)}}

    @classmethod
    def IS_CHANGED(cls, **_):
        return float("nan")

    def go(self, image, mode, seconds):
        if mode == "raise":
            raise ValueError("kiln test fault")
        if mode == "oom":
            raise comfy.model_management.OOM_EXCEPTION(CUDA_MESSAGE)
        if mode == "oom_cpu":
            torch.empty(1 << 50)
        if mode == "sleep":
            time.sleep(seconds)
        if mode == "steps":
            steps = max(1, int(seconds / 0.25))
            bar = comfy.utils.ProgressBar(steps)
            for step in range(steps):
                time.sleep(0.25)
                bar.update_absolute(step + 1, steps)
        if mode == "exit_thread":
            sys.exit(3)
        if mode == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if mode == "segv":
            os.kill(os.getpid(), signal.SIGSEGV)
        return (image,)


NODE_CLASS_MAPPINGS = {"KilnFault": KilnFault}
