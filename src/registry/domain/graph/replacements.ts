import { Type, type Static } from 'typebox'

/** A host node that stands in the place of one that is gone. */
export const Replacement = Type.Object(
  {
    host_node: Type.String({ description: 'Name of the host node that takes its place.' }),
    inputs: Type.Array(
      Type.Object({
        input: Type.String({ description: 'Input of the new one.' }),
        from: Type.Optional(Type.String({ description: 'Input of the old one that goes there.' })),
        value: Type.Optional(Type.String({ description: 'Value to set, where none goes there.' })),
      }),
      { description: 'Inputs that have other names; all others keep theirs.' },
    ),
  },
  { description: 'The host node by which the host, or its pack, has replaced it.' },
)
export type Replacement = Static<typeof Replacement>

/** Says who has what in the place of a host node that is gone. */
export const describeReplacement = (by: 'host' | 'pack', { host_node }: Replacement): string =>
  `The ${by} has ${host_node} in its place.`

const renamed = (host_node: string, inputs: Replacement['inputs'] = []): Replacement => ({
  host_node,
  inputs,
})

/** Names that the host itself replaces when it opens a workflow, as of its table `nodes_replacements.py` in June 2026. */
export const HOST_REPLACEMENTS: ReadonlyMap<string, Replacement> = new Map([
  [
    'T2IAdapterLoader',
    renamed('ControlNetLoader', [{ input: 'control_net_name', from: 't2i_adapter_name' }]),
  ],
  ['SDV_img2vid_Conditioning', renamed('SVD_img2vid_Conditioning')],
  // Its name had a blank at its end.
  ['ConditioningAverage ', renamed('ConditioningAverage')],
  ['Load3DAnimation', renamed('Load3D')],
  ['Preview3DAnimation', renamed('Preview3D')],
  [
    'ResizeImagesByLongerEdge',
    renamed('ImageScaleToMaxDimension', [
      { input: 'image', from: 'images' },
      { input: 'largest_size', from: 'longer_edge' },
      { input: 'upscale_method', value: 'lanczos' },
    ]),
  ],
  [
    'ImageBatch',
    renamed('BatchImagesNode', [
      { input: 'images.image0', from: 'image1' },
      { input: 'images.image1', from: 'image2' },
    ]),
  ],
  [
    'ImageScaleBy',
    renamed('ResizeImageMaskNode', [
      { input: 'input', from: 'image' },
      { input: 'resize_type', value: 'scale by multiplier' },
      { input: 'resize_type.multiplier', from: 'scale_by' },
      { input: 'scale_method', from: 'upscale_method' },
    ]),
  ],
])
