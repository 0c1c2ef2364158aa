import Testing

@testable import FieldpackCore

@Suite struct JSONTextTests {
  private func quoted(_ text: String, _ escapes: JSONText.Escapes) -> String {
    var bytes: [UInt8] = []
    JSONText.append(text, escaping: escapes, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `files have the escapes that are required, terminals see no control character`() {
    let cases = [
      ("\u{8}\u{C}\n\r\t", #""\b\f\n\r\t""#, #""\u0008\u000c\n\r\t""#),
      ("\u{1}\u{1F}", #""\u0001\u001f""#, #""\u0001\u001f""#),
      ("a\u{7F}b", "\"a\u{7F}b\"", #""a\u007fb""#),
      ("\u{80}\u{9F}\u{A0}", "\"\u{80}\u{9F}\u{A0}\"", "\"\\u0080\\u009f\u{A0}\""),
      ("q\"b\\/é🙂", #""q\"b\\/é🙂""#, #""q\"b\\/é🙂""#),
    ]
    for (text, required, controls) in cases {
      for before in ["", "0123456", "01234567"] {
        #expect(quoted(before + text, .required) == "\"" + before + required.dropFirst())
        #expect(quoted(before + text, .controls) == "\"" + before + controls.dropFirst())
      }
    }
  }
}
