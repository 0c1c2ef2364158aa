import FieldpackCore

/// The header of a part of a form.
package struct MultipartHead: Hashable, Sendable {
  package let fields: HTTPFields

  /// What the field of the form is called.
  package var name: String? { parameter("name") }
  package var fileName: String? { parameter("filename") }

  private func parameter(_ name: String) -> String? {
    fields["Content-Disposition"].flatMap { HTTPSyntax.parameter(name, of: $0) }
  }

  /// - Parameter bytes: whole lines, each with its end.
  init(_ bytes: ArraySlice<UInt8>) throws(FieldpackError) {
    var lines: [[UInt8]] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard line.last == UInt8(ascii: "\r") else { throw Self.noField }
      // A line that begins with a blank goes on with the one before it.
      if !lines.isEmpty, [UInt8(ascii: " "), UInt8(ascii: "\t")].contains(line[line.startIndex]) {
        lines[lines.count - 1] += line.dropLast()
      } else {
        lines.append(Array(line.dropLast()))
      }
    }
    var fields: [HTTPFields.Field] = []
    for line in lines {
      guard let field = HTTPSyntax.field(String(decoding: line, as: UTF8.self)), field.isSound
      else { throw Self.noField }
      fields.append(field)
    }
    self.fields = HTTPFields(fields)
  }

  private static var noField: FieldpackError {
    FieldpackError(.malformed, "the header of a part has a line that is no field")
  }
}
