import { basename } from 'node:path'

import { take } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT, readNamed } from './error.ts'

const upload = async (context: Context): Promise<number> => {
  const { kiln, screen, signal } = context
  const [path = ''] = take(context, 'file')
  const file = await readNamed(path)
  screen.show('sending')
  let links: object = {}
  const onLinks = (given: object): void => {
    links = given
  }
  const link = await kiln.upload(file, { fileName: basename(path), onLinks, signal })
  screen.print([link], links)
  return EXIT.done
}

export const UPLOAD_COMMAND: Command = {
  usage: '<file>',
  summary: 'uploads a file, and prints its link, which a task takes as an image for 24 hours',
  help: [],
  options: {},
  run: upload,
}
