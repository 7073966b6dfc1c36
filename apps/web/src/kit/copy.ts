import { constants } from '@zhisuan/contract/constants'
import { notify } from '../api/notify.ts'
import { translate } from '../i18n.ts'

/** Copies and says so for 2.5 s. */
export async function copyText(text: string): Promise<void> {
  const done = await write(text)
  if (done) notify('success', translate('kit:copy.done'), constants.copyToastMs)
  else notify('error', translate('kit:copy.failed'))
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Without https there is no clipboard API; the old way still works from a click.
    const area = document.createElement('textarea')
    area.value = text
    area.style.position = 'fixed'
    area.style.opacity = '0'
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    return done
  }
}
