import type { Call, Expression } from '../../python/ast.ts'
import { isDisguise } from './text.ts'
import { dottedNames } from '../../words.ts'

/**
 * decoded: through a decoder, decompressor or cipher. network: the body of a response; response: a part of its JSON.
 * environment: all variables; variable: one of them. marshal: a code object made of bytes.
 */
export type Origin =
  | 'decoded'
  | 'marshal'
  | 'network'
  | 'response'
  | 'file'
  | 'environment'
  | 'variable'

type ConstantOf = (part: Expression) => string | undefined

/** Origins of the result of a call of this name; `constant` reads an argument. */
export const sourcesOf = (name: string, node: Call, constant: ConstantOf): Origin[] => {
  if (isDecoder(name)) return ['decoded']
  if (name === 'marshal.loads' || name === 'marshal.load') return ['decoded', 'marshal']
  if (name === 'codecs.decode' || name === 'codecs.getdecoder')
    return disguise(node, name, constant)
  if (isFetch(name)) return ['network']
  if (name === 'builtins.open' || name === 'os.open' || name === 'codecs.open') return ['file']
  if (name === 'os.environ.copy' || name === 'os.environ.items') return ['environment']
  if (name === 'os.getenv' || name === 'os.environ.get') return ['variable']
  return []
}

export const isDecoder = (name: string): boolean => DECODERS.has(name) || CIPHERS.test(name)

const disguise = (node: Call, name: string, constant: ConstantOf): Origin[] => {
  const codec = node.args[name === 'codecs.decode' ? 1 : 0]
  return codec && isDisguise(constant(codec) ?? '') ? ['decoded'] : []
}

const DECODERS: ReadonlySet<string> = dottedNames({
  base64:
    'a85decode b16decode b32decode b32hexdecode b64decode b85decode decodebytes decodestring standard_b64decode urlsafe_b64decode',
  binascii: 'a2b_base64 a2b_hex a2b_uu unhexlify',
  'builtins.bytearray': 'fromhex',
  'builtins.bytes': 'fromhex',
  builtins: 'chr',
  bz2: 'decompress',
  gzip: 'decompress',
  lzma: 'decompress',
  zlib: 'decompress',
  'zlib.decompressobj()': 'decompress',
})

const CIPHERS =
  /^(cryptography\..*|Crypto\..*|Cryptodome\..*|nacl\..*|pyaes\..*|rncryptor\..*)\.decrypt$/

/** True when a call of this name fetches from the network and gives the response. */
export const isFetch = (name: string): boolean => FETCHES.test(name)

const FETCHES = new RegExp(
  [
    String.raw`^(requests|httpx|niquests|curl_cffi\.requests)\.((S|s)ession\(\)\.|Client\(\)\.|AsyncClient\(\)\.)?(get|post|put|request|stream)$`,
    String.raw`^aiohttp\.(ClientSession\(\)\.)?(get|post|put|request)$`,
    String.raw`^(urllib\.request|urllib2|urllib)\.(urlopen|build_opener\(\)\.open)$`,
    String.raw`^urllib3\.(PoolManager\(\)\.)?(request|urlopen)$`,
    String.raw`^http\.client\.HTTPS?Connection\(\)\.getresponse$`,
    String.raw`^socket\.(socket|create_connection)\(\)\.(recv|recvfrom|makefile)$`,
  ].join('|'),
)
