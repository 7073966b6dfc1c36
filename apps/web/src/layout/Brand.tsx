import { Link } from 'react-router'
import { paths } from '../paths.ts'
import { useBrand } from '../session/brand.ts'
import './frame.css'

export function Brand() {
  const brand = useBrand()
  return (
    <Link to={paths.welcome()} className="frame-brand" aria-label={brand}>
      <img src="/favicon.svg" alt="" width="28" height="28" />
      <span className="zs-cut">{brand}</span>
    </Link>
  )
}
