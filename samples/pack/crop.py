"""A node that cuts an image to a shape, around its brightest part or its middle."""

from .light import CATEGORY, luminance

SHAPES = {"square": 1.0, "3:2": 3 / 2, "4:5": 4 / 5, "16:9": 16 / 9}


class CropToLight:
    """Cuts an image to a shape; the cut follows the light."""

    CATEGORY = CATEGORY
    DESCRIPTION = "Cuts an image to a shape, around its brightest part or its middle."
    FUNCTION = "crop"
    RETURN_TYPES = ("IMAGE",)

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "image": ("IMAGE",),
                "shape": (list(SHAPES),),
                "around": (["light", "middle"],),
            }
        }

    def crop(self, image, shape, around):
        height, width = image.shape[1:3]
        cut_width = min(width, round(height * SHAPES[shape]))
        cut_height = min(height, round(width / SHAPES[shape]))
        left, top = (width - cut_width) // 2, (height - cut_height) // 2
        if around == "light":
            light = luminance(image).mean(dim=0)
            left = clamp(centre(light.sum(dim=0)) - cut_width / 2, width - cut_width)
            top = clamp(centre(light.sum(dim=1)) - cut_height / 2, height - cut_height)
        return (image[:, top : top + cut_height, left : left + cut_width, :],)


def centre(weights):
    """Index around which the weights balance; the middle of those that are all 0."""
    total = weights.sum().item()
    if total == 0:
        return len(weights) / 2
    return sum(index * weight.item() for index, weight in enumerate(weights)) / total


def clamp(start, most):
    return max(0, min(most, round(start)))


NODE_CLASS_MAPPINGS = {"LightToolsCrop": CropToLight}
NODE_DISPLAY_NAME_MAPPINGS = {"LightToolsCrop": "Crop to Light"}
