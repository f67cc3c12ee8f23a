import type { Template } from './template.ts'

/**
 * Lists how templates and the kinds that settings send to ComfyUI do not fit, for an operator: either does nothing without
 * the other.
 */
export const listGaps = (
  templates: readonly Pick<Template, 'kind'>[],
  kinds: readonly string[],
): string[] => {
  if (templates.length + kinds.length === 0)
    return ['COMFYUI_TEMPLATES has no template, so the instances of COMFYUI_URLS are given nothing']
  const own = [...new Set(templates.flatMap(({ kind }) => kind ?? []))]
  const without = kinds.filter((kind) => !own.includes(kind))
  const idle = own.filter((kind) => !kinds.includes(kind))
  return [
    ...(without.length > 0 ? [describeWithout(without)] : []),
    ...(idle.length > 0 ? [describeIdle(idle)] : []),
  ]
}

/** Says which kinds have no template. */
export const describeWithout = (kinds: readonly string[]): string =>
  `none for ${kinds.join(', ')}: add or mend ${kinds[0]}.json in COMFYUI_TEMPLATES, or choose another engine in ENGINES`

const describeIdle = (kinds: readonly string[]): string =>
  `no tasks come to ${kinds.map((kind) => `${kind}.json`).join(', ')} unless an account has the engine comfyui: ENGINES=${kinds.map((kind) => `${kind}:comfyui`).join()} sends them`
