import { isFetch } from '../source/origin-names.ts'
import { dottedNames } from '../../words.ts'
import { eachCall } from './each-call.ts'

/** network, native-call: ordinary in packs, only counted. */
export const findCounted = eachCall(({ names }) => {
  if (names.some(isNetwork)) return { rule: 'network' }
  return names.some(isNative) ? { rule: 'native-call' } : undefined
})

const isNetwork = (name: string): boolean => isFetch(name) || DOWNLOADS.has(name)

const DOWNLOADS = dottedNames({
  gdown: 'download',
  huggingface_hub: 'hf_hub_download snapshot_download',
  requests: 'delete head patch',
  socket: 'create_connection socket',
  'torch.hub': 'download_url_to_file load_state_dict_from_url',
  'urllib.request': 'Request urlretrieve',
  websocket: 'create_connection',
  wget: 'download',
})

const isNative = (name: string): boolean =>
  /^(?:ctypes\.(?:C|Py|Win|Ole)DLL|ctypes\.(?:cdll|windll|oledll|pydll)\b.*|cffi\.FFI\(\)\.dlopen)$/.test(
    name,
  )
