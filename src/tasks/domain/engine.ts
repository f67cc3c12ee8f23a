/** Engines that every service has: itself, an upstream that speaks its interface, and a fleet of ComfyUI. */
export const ENGINE_NAMES = ['local', 'vendor', 'comfyui'] as const

/** Engine that renders a task: one of these, or one that ENGINES_HTTP names. */
export type EngineName = string

/** Finds what the name of the queue of an engine ends with. */
export const queueOf = (engine: EngineName): string => {
  if (engine === 'local') return 'media'
  return ENGINE_NAMES.some((name) => name === engine) ? engine : `http-${engine}`
}
