import { readNodeClass, type NodeClasses } from '../../../src/engines/domain/template/node-class.ts'
import { describeClass, makeClasses } from './classes.ts'

/** Reads all classes of a version as Kiln does, with a picture and a video in the input folder. */
export const readVersion = async (version: string): Promise<NodeClasses> => {
  const folders = { listInputs: async () => ['in.png', 'light.png', 'in.mp4'] }
  const classes = await makeClasses({ version, folders, models: ['kiln-tiny-x2.safetensors'] })
  return Object.fromEntries(
    Object.entries(classes).map(([name, found]) => {
      // As it comes over the wire.
      const body = JSON.parse(JSON.stringify({ [name]: describeClass(name, found) })) as object
      return [name, readNodeClass({ ...body }, name)]
    }),
  )
}
