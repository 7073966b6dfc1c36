import { errors } from '@zhisuan/contract/errors'
import { singleSignOnRefusals } from '@zhisuan/contract/ums/identityProvider'
import { Notice } from './Notice.tsx'

/** Why a provider's way back led to nobody. Whatever else stands in the address is no code of ours. */
export default function SignOnRefusal({ code }: { readonly code: string }) {
  const refusal = singleSignOnRefusals.find((name) => String(errors[name].code) === code)
  return refusal === undefined ? null : <Notice tone="bad">{errors[refusal].text}</Notice>
}
