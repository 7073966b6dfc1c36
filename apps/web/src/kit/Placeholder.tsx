import './placeholder.css'

/**
 * What stands for a page on its way. Plain CSS, because it belongs to the first thing that every
 * visitor loads, and antd's Skeleton and Spin weigh more than they show here.
 */
export function PagePlaceholder() {
  return (
    <div className="zs-card zs-late zs-placeholder" aria-busy="true">
      {[38, 92, 84, 96, 70].map((width) => (
        <span key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  )
}

export function Spinner() {
  return (
    <div className="zs-alone zs-late" aria-busy="true">
      <span className="zs-spinner" />
    </div>
  )
}
