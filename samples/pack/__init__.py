"""Light tools: three nodes that measure and shape the light of an image."""

from .crop import NODE_CLASS_MAPPINGS as CROP_NODES
from .crop import NODE_DISPLAY_NAME_MAPPINGS as CROP_NAMES
from .light import NODE_CLASS_MAPPINGS as LIGHT_NODES
from .light import NODE_DISPLAY_NAME_MAPPINGS as LIGHT_NAMES

NODE_CLASS_MAPPINGS = {**LIGHT_NODES, **CROP_NODES}
NODE_DISPLAY_NAME_MAPPINGS = {**LIGHT_NAMES, **CROP_NAMES}

__all__ = ["NODE_CLASS_MAPPINGS", "NODE_DISPLAY_NAME_MAPPINGS"]
