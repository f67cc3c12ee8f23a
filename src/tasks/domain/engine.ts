/** Engine that renders a task: this service, an upstream that speaks its interface, or a fleet of ComfyUI. */
export const ENGINE_NAMES = ['local', 'vendor', 'comfyui'] as const
export type EngineName = (typeof ENGINE_NAMES)[number]
