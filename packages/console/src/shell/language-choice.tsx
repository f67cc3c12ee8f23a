import { Select } from '../ui/fields.tsx'
import { LANGUAGES } from '../words/language.ts'
import { t } from '../words/translate.ts'
import { changeLanguage, useSettings } from './settings.ts'

const OPTIONS = { system: t('Language of the browser'), ...LANGUAGES }

/** Choice of the language of the console, by the name that each has for itself. */
export const LanguageChoice = ({ isLabelHidden }: { isLabelHidden?: boolean }) => (
  <Select<string>
    label={t('Language')}
    isLabelHidden={isLabelHidden}
    options={OPTIONS}
    value={useSettings().language}
    onChange={changeLanguage}
  />
)
