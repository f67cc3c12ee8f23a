/** Advice to operators on workers that are missing, in the middle of a sentence. */
export const START_CORE = 'start a core worker (WORKER_ROLE=core)'
export const START_MEDIA = 'start a media worker (WORKER_ROLE=media)'

/** Says which worker to start for tasks of an engine that none serves. */
export const adviseEngineWorker = (engine: string): string =>
  engine === 'local'
    ? START_MEDIA
    : `start a core worker with the address of the engine ${engine} (${settingOf(engine)})`

const SETTINGS: Readonly<Record<string, string>> = {
  vendor: 'VENDOR_IMAGE_URL, VENDOR_VIDEO_URL',
  comfyui: 'COMFYUI_URLS',
}

/** Names the setting that has the addresses of an engine. */
export const settingOf = (engine: string): string => SETTINGS[engine] ?? 'ENGINES_HTTP'
