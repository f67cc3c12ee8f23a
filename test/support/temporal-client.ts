import type { TestContext } from 'node:test'

import { Client, Connection } from '@temporalio/client'

import { temporalAddress } from './stack.ts'

/** Opens a client of the Temporal server of this run, which is closed after the test. */
export const openTemporal = async (t: TestContext): Promise<Client> => {
  const connection = await Connection.connect({ address: temporalAddress() })
  t.after(() => connection.close())
  return new Client({ connection })
}
