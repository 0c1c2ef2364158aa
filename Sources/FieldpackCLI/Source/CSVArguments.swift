import Fieldpack
import FieldpackCore
import FieldpackFormats

/// How CSV files are read, where their header does not tell.
enum CSVArguments {
  static let delimiter = Option<String?>.value(
    "delimiter", .text("character"), help: "What separates the cells, or 'tab'.")
  static let x = Option<String?>.value("x", .text("column"), help: "The column of x or longitude.")
  static let y = Option<String?>.value("y", .text("column"), help: "The column of y or latitude.")
  static let wkt = Option<String?>.value("wkt", .text("column"), help: "The column of WKT.")

  static let group = OptionGroup("CSV options", [delimiter, x, y, wkt])

  static func options(_ arguments: ParsedArguments) throws(FieldpackError) -> CSVOptions {
    var options = CSVOptions()
    options.delimiter = try arguments[delimiter].map(byte)
    options.xColumn = arguments[x]
    options.yColumn = arguments[y]
    options.wktColumn = arguments[wkt]
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
