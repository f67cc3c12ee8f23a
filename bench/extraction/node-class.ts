import type { Random } from '../search/random.ts'
import { camel, drawWord, sentence, snake, times } from '../search/words.ts'

/** A node class as packs have them: inputs, outputs, a method that computes, often in a loop with a branch. */
export const writeNodeClass = (random: Random, name: string): string => {
  const inputs = Array.from({ length: random.between(2, 7) }, () => snake(random))
  const method = snake(random)
  return `class ${name}:
    """${sentence(random, 8)}

${times(random.between(3, 6), () => `    ${sentence(random, 14)}`)}
    """

    CATEGORY = f"{PREFIX}/${drawWord(random)}"
    DESCRIPTION = "${sentence(random, 10)}"
    RETURN_TYPES = (${random.pick(OUTPUTS)})
    RETURN_NAMES = ("${drawWord(random)}",)
    FUNCTION = "${method}"

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "image": ("IMAGE",),
${times(inputs.length, (at) => `                "${inputs[at]}": ${writeInput(random)},`)}
            },
            "optional": {
                "mask": ("MASK", {"tooltip": "${sentence(random, 12)}"}),
                "mode": (list(PRESETS.keys()), {"default": DEFAULT_PRESET}),
            },
            "hidden": {"unique_id": "UNIQUE_ID"},
        }

${writeMethod(random, method, inputs)}`
}

const OUTPUTS = ['"IMAGE",', '"IMAGE", "MASK"', '"LATENT",', '"MODEL", "CLIP", "VAE"'] as const

const writeInput = (random: Random): string => {
  const max = random.between(2, 4096)
  const forms = [
    `("INT", {"default": ${random.between(0, max)}, "min": 0, "max": ${max}, "step": 1})`,
    `("FLOAT", {"default": ${(random.next() * 2).toFixed(2)}, "min": -10.0, "max": 10.0, "step": 0.01})`,
    `("STRING", {"default": "${drawWord(random)}", "multiline": True})`,
    `(["${drawWord(random)}", "${drawWord(random)}", "${drawWord(random)}"],)`,
    '("BOOLEAN", {"default": False})',
    'folder_paths.get_filename_list("checkpoints"),',
  ]
  const form = random.pick(forms)
  return form.endsWith(',') ? `(${form})` : form
}

const writeMethod = (random: Random, method: string, inputs: readonly string[]): string => {
  const [first = 'x', second = 'x'] = inputs
  const [total, part] = [snake(random, 1), snake(random)]
  return `    def ${method}(self, image, ${inputs.join(', ')}, mask=None, mode=DEFAULT_PRESET, unique_id=None):
${times(random.between(2, 5), () => `        # ${sentence(random, 14)}`)}
        ${total} = []
        settings = PRESETS.get(mode, {})
        for index, item in enumerate(image):
            ${part} = item.clone().to(self.device if hasattr(self, "device") else "cpu")
            if mask is not None and index < len(mask):
                ${part} = ${part} * mask[index].unsqueeze(-1) + item * (1.0 - mask[index].unsqueeze(-1))
            elif settings.get("strength", 0.5) > ${random.next().toFixed(3)}:
                ${part} = torch.clamp(${part} ** 2 / (float(${first} or 1) + 1e-6), min=0.0, max=1.0)
${writeSteps(random, part)}
            try:
                ${total}.append(helper_${random.between(0, 2)}(${part}, ${second}, scale=settings["scale"]))
            except (KeyError, ValueError) as error:
                logger.warning(f"[${camel(random)}] step {index + 1} of {len(image)}: {error!r}")
                ${total}.append(${part})
        return (torch.stack(${total}, dim=0), *[None for _ in self.RETURN_TYPES[1:]])
`
}

const writeSteps = (random: Random, part: string): string =>
  times(random.between(1, 6), () =>
    random.pick([
      `            ${part}[..., ${random.between(0, 3)}] += ${random.next().toFixed(4)} * index`,
      `            ${part} = torch.nn.functional.interpolate(${part}, size=(${random.between(64, 1024)}, -1), mode="bilinear")`,
      times(2, () => `            # ${sentence(random, 14)}`),
      `            assert ${part}.shape[0] == item.shape[0], "${sentence(random, 5)}"`,
      `            ${snake(random)} = [value for value in settings.values() if value is not None and value != "${drawWord(random)}"]`,
    ]),
  )
