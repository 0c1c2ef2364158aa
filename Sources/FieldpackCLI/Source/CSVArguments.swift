import Fieldpack
import FieldpackCore
import FieldpackFormats

/// How CSV files are read, where their header does not tell.
struct CSVArguments: OptionGroup {
  static let title: String? = "CSV options"

  private let delimiter: String?
  private let decimal: CSVOptions.DecimalSign?
  private let encoding: String?
  private let dateFormat: String?
  private let x: String?
  private let y: String?
  private let wkt: String?

  init(_ reader: inout OptionReader) {
    delimiter = reader.value(
      "delimiter", .text("character"), help: "What separates the cells, or 'tab'.")
    decimal = reader.value(
      "decimal", .choice("sign"), help: "The sign before the decimals of numbers.")
    encoding = reader.value(
      "encoding", .text("name"),
      help: "The encoding of the text, such as windows-1252 or iso-8859-2, as iconv names it.")
    dateFormat = reader.value(
      "date-format", .text("format"),
      help: "How dates are written, such as %d.%m.%Y or '%d/%m/%y %H:%M'; times are UTC.")
    x = reader.value("x", .text("column"), help: "The column of x or longitude.")
    y = reader.value("y", .text("column"), help: "The column of y or latitude.")
    wkt = reader.value("wkt", .text("column"), help: "The column of WKT.")
  }

  func options() throws(FieldpackError) -> CSVOptions {
    var options = CSVOptions()
    options.delimiter = try delimiter.map(Self.byte)
    options.decimalSign = decimal
    options.encoding = encoding
    options.dateFormat = dateFormat
    options.xColumn = x
    options.yColumn = y
    options.wktColumn = wkt
    return options
  }

  private static func byte(_ text: String) throws(FieldpackError) -> UInt8 {
    if text == "tab" { return UInt8(ascii: "\t") }
    guard text.utf8.count == 1, let byte = text.utf8.first, byte != UInt8(ascii: "\"") else {
      throw FieldpackError(
        .invalidArgument, "--delimiter '\(text)' is not one character. Try: , or ; or tab")
    }
    return byte
  }
}
