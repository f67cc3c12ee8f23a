/** Python's white space, which is not JavaScript's: U+001C to U+001F and U+0085 belong to it, U+FEFF does not. */
export const WHITESPACE =
  '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'

/** Numeric_Type=Digit without Nd (superscripts, circled digits …): no property escape has it. Unicode 15, CPython 3.12. */
const DIGITS =
  '\\xb2\\xb3\\xb9\\u1369-\\u1371\\u19da\\u2070\\u2074-\\u2079\\u2080-\\u2089\\u2460-\\u2468' +
  '\\u2474-\\u247c\\u2488-\\u2490\\u24ea\\u24f5-\\u24fd\\u24ff\\u2776-\\u277e\\u2780-\\u2788' +
  '\\u278a-\\u2792\\u{10a40}-\\u{10a43}\\u{10e60}-\\u{10e68}\\u{11052}-\\u{1105a}\\u{1f100}-\\u{1f10a}'

/** Ideographs with a numeric value, which are letters by category. Unicode 15, CPython 3.12. */
const NUMERIC_IDEOGRAPHS =
  '㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廿开弌弍弎弐' +
  '拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零\\uf96b\\uf973\\uf978\\uf9b2\\uf9d1\\uf9d3\\uf9fd' +
  '\\u{20001}\\u{20064}\\u{200e2}\\u{20121}\\u{2092a}\\u{20983}\\u{2098c}\\u{2099c}\\u{20aea}' +
  '\\u{20afd}\\u{20b19}\\u{22390}\\u{22998}\\u{23b1b}\\u{2626d}\\u{2f890}'

const all = (members: string): RegExp => new RegExp(`^[${members}]+$`, 'u')

const SPACES = all(WHITESPACE)
const DIGIT = all(`\\p{Nd}${DIGITS}`)
const NUMERIC = all(`\\p{N}${NUMERIC_IDEOGRAPHS}`)
const ALPHA = all('\\p{L}')
const ALNUM = all('\\p{L}\\p{N}')
const IDENTIFIER = /^[\p{XID_Start}_]\p{XID_Continue}*$/u
// oxlint-disable-next-line no-control-regex -- ASCII begins at U+0000
const ASCII = /^[\0-\x7f]*$/

/** Every character is white space, and there is one. */
export const isSpace = (text: string): boolean => SPACES.test(text)
/** Every character is a decimal digit of any script, or one of superscripts, circled digits and the like. */
export const isDigit = (text: string): boolean => DIGIT.test(text)
/** As isDigit, with fractions, Roman numerals and ideographs of numbers. */
export const isNumeric = (text: string): boolean => NUMERIC.test(text)
/** Every character is a letter (category L), and there is one. */
export const isAlpha = (text: string): boolean => ALPHA.test(text)
/** Every character is a letter or numeric, and there is one. */
export const isAlnum = (text: string): boolean => ALNUM.test(text)
/** A name by its characters; keywords are not left out, as in Python. */
export const isIdentifier = (text: string): boolean => IDENTIFIER.test(text)
/** True for the empty text. */
export const isAscii = (text: string): boolean => ASCII.test(text)
