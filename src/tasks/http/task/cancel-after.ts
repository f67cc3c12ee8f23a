import { END_WITHIN } from '../../domain/task-options.ts'
import type { HeaderMember } from '../../../platform/http/route.ts'

const FORM = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s?)?$/

/** The header that clients of Replicate's kind send for a deadline: seconds, or hours, minutes and seconds. */
export const CANCEL_AFTER: HeaderMember = {
  header: 'Cancel-After',
  member: END_WITHIN,
  read: (text) => {
    const [given = '', hours = '0', minutes = '0', seconds = '0'] = FORM.exec(text.trim()) ?? []
    return given === '' ? text : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  },
}
