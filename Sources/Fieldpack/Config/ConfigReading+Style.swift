import FieldpackCore

extension ConfigReading {
  /// The style of a store's layers: the `paint` of the last entry of `style` that has one, over the
  /// standard style. Members of no meaning here are left out; those of a wrong kind, too, with a
  /// warning.
  mutating func layerStyle(of entry: ConfigValue) -> LayerStyle? {
    guard let value = entry["style"], !value.isNull else { return nil }
    guard case .array(let entries) = value.content else {
      tell(
        .warning, at: value.range.lowerBound,
        "'style' is an array of Mapbox layers, not \(value.kind): left out")
      return nil
    }
    guard let paint = entries.last(where: { $0["paint"]?.isNull == false })?["paint"] else {
      return nil
    }
    guard case .object = paint.content else {
      tell(
        .warning, at: paint.range.lowerBound, "'paint' is an object, not \(paint.kind): left out")
      return nil
    }
    var style = LayerStyle(
      strokeColor: color("line-color", of: paint),
      strokeOpacity: number("line-opacity", of: paint, in: 0...1),
      strokeWidth: number("line-width", of: paint, in: 0...1000),
      fillColor: color("fill-color", of: paint),
      fillOpacity: number("fill-opacity", of: paint, in: 0...1),
      iconColor: color("icon-color", of: paint))
    style.addMissing(.standard)
    return style
  }

  private mutating func color(_ name: String, of paint: ConfigValue) -> StyleColor? {
    guard let value = paint[name], !value.isNull else { return nil }
    if let color = value.text.flatMap(StyleColor.init) { return color }
    let found = value.text.map { "'\($0)'" } ?? value.kind
    tell(
      .warning, at: value.range.lowerBound,
      "'\(name)' is a colour such as \"#34fb71\", not \(found): the standard one holds")
    return nil
  }

  private mutating func number(
    _ name: String, of paint: ConfigValue, in range: ClosedRange<Double>
  ) -> Double? {
    guard let value = paint[name], !value.isNull else { return nil }
    var found = value.kind
    if case .number(let digits) = value.content {
      if let number = Double(digits), range.contains(number) { return number }
      found = digits
    }
    tell(
      .warning, at: value.range.lowerBound,
      "'\(name)' is a number from \(Int(range.lowerBound)) to \(Int(range.upperBound)), "
        + "not \(found): the standard one holds")
    return nil
  }
}
