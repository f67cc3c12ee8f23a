/**
 * Text in code page 437, which names without the UTF-8 flag have (APPNOTE D.1). Bytes below 128 stay ASCII, control
 * characters included, so that the checks see them; the code page has pictures there.
 */
export const decodeCp437 = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) =>
    byte < 128 ? String.fromCharCode(byte) : UPPER_HALF[byte - 128],
  ).join('')

const UPPER_HALF =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'
