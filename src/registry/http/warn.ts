import type { Outbound } from '../../platform/outbound/client.ts'
import { hostVersionWarnings } from '../domain/host-version.ts'
import { pictureWarnings } from '../domain/picture-address.ts'
import { translationWarnings } from '../domain/translations.ts'

/** The body of a response to a change, with what will not work of what it has stored. */
export const withWarnings = <Record extends object>(
  { outbound, publicUrl }: { outbound: Pick<Outbound, 'validateUrl'>; publicUrl: string },
  written: Readonly<{ [name: string]: unknown }>,
  body: Record,
): Record & { warnings?: string[] } => {
  const warnings = [
    ...pictureWarnings(written, {
      find: (address) => outbound.validateUrl(address).rejected,
      publicUrl,
    }),
    ...hostVersionWarnings(written),
    ...translationWarnings(written),
  ]
  return warnings.length === 0 ? body : { ...body, warnings }
}
