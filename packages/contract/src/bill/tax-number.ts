const unifiedAlphabet = '0123456789ABCDEFGHJKLMNPQRTUWXY'
const unifiedWeights = [1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28]

/** GB 32100-2015: unified social credit code, 17 characters and the one that checks them modulo 31. */
function isUnifiedCode(text: string): boolean {
  if (!/^[0-9A-HJ-NPQRTUWXY]{18}$/.test(text)) return false
  const sum = unifiedWeights.reduce((total, weight, at) => total + weight * unifiedAlphabet.indexOf(text.charAt(at)), 0)
  return unifiedAlphabet.charAt((31 - (sum % 31)) % 31) === text.charAt(17)
}

const organisationWeights = [3, 7, 9, 10, 5, 8, 4, 2]

/** GB 11714-1997: organisation code, 8 characters and the one that checks them modulo 11. */
function isOrganisationCode(text: string): boolean {
  if (!/^[0-9A-Z]{8}[0-9X]$/.test(text)) return false
  const sum = organisationWeights.reduce((total, weight, at) => total + weight * Number.parseInt(text.charAt(at), 36), 0)
  return '0123456789X0'.charAt(11 - (sum % 11)) === text.charAt(8)
}

const personWeights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]

/** GB 11643-1999: a citizen's number, 17 digits with their birthday and the one that checks them modulo 11. */
function isCitizenNumber(text: string): boolean {
  if (!/^\d{17}[\dX]$/.test(text)) return false
  const birthday = `${text.slice(6, 10)}-${text.slice(10, 12)}-${text.slice(12, 14)}`
  const day = new Date(`${birthday}T00:00:00Z`)
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== birthday) return false
  const sum = personWeights.reduce((total, weight, at) => total + weight * Number(text.charAt(at)), 0)
  return '10X98765432'.charAt(sum % 11) === text.charAt(17)
}

/**
 * Whether a taxpayer may have this number: 18 characters as a unified social credit code or a
 * citizen's number; 15 of before 2015, a region and an organisation code; 20, of one who runs a
 * business in their own name: their citizen's number and two digits.
 */
export function isTaxNumber(text: string): boolean {
  if (text.length === 18) return isUnifiedCode(text) || isCitizenNumber(text)
  if (text.length === 15) return /^\d{6}/.test(text) && isOrganisationCode(text.slice(6))
  return text.length === 20 && /\d{2}$/.test(text) && isCitizenNumber(text.slice(0, 18))
}
