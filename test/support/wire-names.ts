import { IMAGE_API, VIDEO_API } from './client.ts'

/** Names that the clients of the host have for what the interface names otherwise. */
export interface WireNames {
  imageApi: string
  videoApi: string
  /** Header with the price. */
  credits: string
  hostVersion: string
  frontendVersion: string
}

export const OWN_NAMES: WireNames = {
  imageApi: IMAGE_API,
  videoApi: VIDEO_API,
  credits: 'x-credits-used',
  hostVersion: 'supported_host_version',
  frontendVersion: 'supported_host_frontend_version',
}

export const HOST_NAMES: WireNames = {
  imageApi: '/proxy/freepik/v1/ai',
  videoApi: '/proxy/vidu',
  credits: 'x-comfy-credits-used',
  hostVersion: 'supported_comfyui_version',
  frontendVersion: 'supported_comfyui_frontend_version',
}
