import { signToken } from '../process/development-issuer.ts'
import { loadIssuerKey } from './issuer.ts'

/** Prints a token for a user, alone on the last line of standard output; everything else goes to standard error. */
export const printToken = async (dataDir: string, subject: string | undefined): Promise<number> => {
  if (subject === undefined)
    throw new Error('the user is absent: npm run kiln -- token --user alice')
  const token = await signToken(await loadIssuerKey(dataDir), subject)
  process.stderr.write(`bearer token of ${subject}, good for 12 hours:\n`)
  process.stdout.write(`${token}\n`)
  return 0
}
