import CPROJ
import FieldpackGeometry

extension CoordinateTransformation.Operation {
  /// Reports the operation that PROJ ranks first for the area, and the grids missing for better
  /// ones.
  func report(
    from source: SRSReference, to target: SRSReference, areaOfInterest: Envelope?
  ) -> TransformationReport {
    let usable = candidates(
      from: source, to: target, areaOfInterest: areaOfInterest,
      grids: PROJ_GRID_AVAILABILITY_DISCARD_OPERATION_IF_MISSING_GRID)
    let best = usable.first
    let every = candidates(
      from: source, to: target, areaOfInterest: areaOfInterest,
      grids: PROJ_GRID_AVAILABILITY_IGNORED)
    let better = every.filter { $0.isMoreAccurate(than: best) }
    var missing: [String] = []
    for grid in better.flatMap(\.missingGrids) where !missing.contains(grid) {
      missing.append(grid)
    }
    return TransformationReport(
      source: source.description, target: target.description,
      operation: best?.name ?? "unknown", accuracy: best?.accuracy, missingGrids: missing)
  }

  private func candidates(
    from source: SRSReference, to target: SRSReference, areaOfInterest: Envelope?,
    grids: PROJ_GRID_AVAILABILITY_USE
  ) -> [Candidate] {
    guard let from = try? context.object(of: source), let to = try? context.object(of: target),
      let factory = proj_create_operation_factory_context(context.handle, nil)
    else { return [] }
    defer { proj_operation_factory_context_destroy(factory) }
    proj_operation_factory_context_set_spatial_criterion(
      context.handle, factory, PROJ_SPATIAL_CRITERION_PARTIAL_INTERSECTION)
    proj_operation_factory_context_set_grid_availability_use(context.handle, factory, grids)
    if let area = areaOfInterest {
      proj_operation_factory_context_set_area_of_interest(
        context.handle, factory, area.minX, area.minY, area.maxX, area.maxY)
    }
    guard let list = proj_create_operations(context.handle, from.handle, to.handle, factory)
    else { return [] }
    defer { proj_list_destroy(list) }
    return (0..<proj_list_get_count(list)).compactMap { index in
      proj_list_get(context.handle, list, index).map { item in
        Candidate(ProjectionObject(item), in: context)
      }
    }
  }
}

/// One of the operations that PROJ offers.
private struct Candidate {
  let name: String
  /// The accuracy in metres; `nil` where PROJ does not know it.
  let accuracy: Double?
  let missingGrids: [String]

  init(_ operation: consuming ProjectionObject, in context: ProjectionContext) {
    name = proj_get_name(operation.handle).map { String(cString: $0) } ?? "unnamed"
    let metres = proj_coordoperation_get_accuracy(context.handle, operation.handle)
    accuracy = metres >= 0 ? metres : Self.isConversion(operation, in: context) ? 0 : nil
    var missing: [String] = []
    let grids = proj_coordoperation_get_grid_used_count(context.handle, operation.handle)
    for index in 0..<max(0, grids) {
      var grid: UnsafePointer<CChar>?
      var isAvailable: Int32 = 0
      let found = proj_coordoperation_get_grid_used(
        context.handle, operation.handle, index, &grid, nil, nil, nil, nil, nil, &isAvailable)
      if found != 0, isAvailable == 0, let grid { missing.append(String(cString: grid)) }
    }
    missingGrids = missing
  }

  // PROJ states no accuracy for operations of formulas only, without a change of datum.
  private static func isConversion(
    _ operation: borrowing ProjectionObject, in context: ProjectionContext
  ) -> Bool {
    switch proj_get_type(operation.handle) {
    case PJ_TYPE_CONVERSION: return true
    case PJ_TYPE_CONCATENATED_OPERATION: break
    default: return false
    }
    let steps = proj_concatoperation_get_step_count(context.handle, operation.handle)
    return (0..<steps).allSatisfy { index in
      guard let step = proj_concatoperation_get_step(context.handle, operation.handle, index)
      else { return false }
      return proj_get_type(ProjectionObject(step).handle) == PJ_TYPE_CONVERSION
    }
  }

  func isMoreAccurate(than other: Candidate?) -> Bool {
    guard let accuracy else { return false }
    guard let theirs = other?.accuracy else { return true }
    return accuracy < theirs
  }
}
