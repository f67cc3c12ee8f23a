import { t } from '../words/translate.ts'
/** Periods by the days before today with which they begin. */
const PERIODS = { 0: t('Today'), 6: t('Last 7 days'), 29: t('Last 30 days') }

const dayBefore = (days: string): string => {
  const day = new Date()
  day.setDate(day.getDate() - Number(days))
  // Swedish dates are those of ISO.
  return day.toLocaleDateString('sv')
}

/** First days of a period as choices, that of the address among them; the empty one is any time. */
export const periodOptions = (from = ''): readonly (readonly [from: string, label: string])[] => {
  const known = Object.entries(PERIODS).map(([days, label]) => [dayBefore(days), label] as const)
  const isOther = from !== '' && !known.some(([day]) => day === from)
  return [
    ['', t('Any time')],
    ...(isOther ? [[from, t('Since {day}', { day: from.slice(0, 10) })] as const] : []),
    ...known,
  ]
}
