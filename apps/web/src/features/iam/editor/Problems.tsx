import '../iam.css'
/** What is wrong with a part, below it. */
export function Problems({ messages }: { readonly messages: readonly string[] }) {
  return messages.map((message) => (
    <p key={message} className="zs-bad ia-problem">
      {message}
    </p>
  ))
}
