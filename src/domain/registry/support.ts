import { Type } from 'typebox'

import { tags, text } from './registry-fields.ts'

/** Platforms on which a node or a version runs. Each says so for itself: a version inherits nothing. */

const os = tags('Operating systems it runs on; any text.')
const accelerators = tags('Accelerators it runs on, such as CUDA; any text.')

const versions = {
  supported_host_version: Type.Optional(text(256, 'Versions of the host; not parsed.')),
  supported_host_frontend_version: Type.Optional(
    text(256, 'Versions of the host’s frontend; not parsed.'),
  ),
}

/** In bodies. */
export const writtenSupport = {
  supported_os: Type.Optional(os),
  supported_accelerators: Type.Optional(accelerators),
  ...versions,
}

/** In responses, where lists are always there. */
export const shownSupport = { supported_os: os, supported_accelerators: accelerators, ...versions }
