/** The package of which an application takes its classes; here, so that naming it loads nothing of it. */
export const arrowPackage = "apache-arrow";
