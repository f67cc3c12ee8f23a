"""Nodes that look at the light of an image and change it.

Images are float tensors of shape (batch, height, width, channels), 0 to 1.
"""

import torch

CATEGORY = "light tools"
# Rec. 709: how much red, green and blue count for what is seen as bright.
WEIGHTS = (0.2126, 0.7152, 0.0722)


def luminance(image):
    weights = torch.tensor(WEIGHTS, dtype=image.dtype, device=image.device)
    return (image[..., :3] * weights).sum(dim=-1)


class LightMeter:
    """Measures the mean, darkest and brightest luminance of an image."""

    CATEGORY = CATEGORY
    DESCRIPTION = "Measures the mean, darkest and brightest luminance of an image."
    FUNCTION = "measure"
    RETURN_TYPES = ("FLOAT", "FLOAT", "FLOAT")
    RETURN_NAMES = ("mean", "darkest", "brightest")

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"image": ("IMAGE",)}}

    def measure(self, image):
        light = luminance(image)
        return (light.mean().item(), light.min().item(), light.max().item())


class Exposure:
    """Brightens or darkens an image by stops, and keeps highlights from clipping."""

    CATEGORY = CATEGORY
    DESCRIPTION = "Brightens or darkens an image by stops; the shoulder keeps highlights from clipping."
    FUNCTION = "expose"
    RETURN_TYPES = ("IMAGE",)

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "image": ("IMAGE",),
                "stops": ("FLOAT", {"default": 0.0, "min": -4.0, "max": 4.0, "step": 0.1}),
                "shoulder": (["hard", "soft"], {"default": "soft"}),
            }
        }

    def expose(self, image, stops, shoulder):
        brightened = image * 2.0**stops
        if shoulder == "hard" or stops <= 0:
            return (brightened.clamp(0, 1),)
        # Straight up to the knee, then a curve that only reaches 1 where the input is endlessly bright.
        knee = 0.8
        above = (brightened - knee).clamp(min=0)
        soft = knee + (1 - knee) * above / (above + 1 - knee)
        return (torch.where(brightened > knee, soft, brightened).clamp(0, 1),)


NODE_CLASS_MAPPINGS = {"LightToolsMeter": LightMeter, "LightToolsExposure": Exposure}
NODE_DISPLAY_NAME_MAPPINGS = {"LightToolsMeter": "Light Meter", "LightToolsExposure": "Exposure"}
